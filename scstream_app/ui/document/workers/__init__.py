"""The threads of a document: segmentation, drawing, measuring, writing bookmarks and closing sessions."""
