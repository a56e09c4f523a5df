"""How the window looks: themes, contrast, icons and the ring around what has the focus."""
