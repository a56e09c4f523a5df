"""Start of the program: settings of the process, crash reports, garbage collection, loading the engine."""
