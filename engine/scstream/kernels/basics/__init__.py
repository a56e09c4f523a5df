"""What all kernels share: sizes, pieces of work, LLVM operations, exp and log, small matrices, random numbers."""
