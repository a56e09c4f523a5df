"""The plugin for napari: reads sessions as layers, segments image layers, and offers the sample clips.

napari finds it by `napari.yaml`, which names the functions that napari calls. Nothing else in the program imports this
package, and it imports neither the window nor PySide6: napari decides which Qt there is.
"""
