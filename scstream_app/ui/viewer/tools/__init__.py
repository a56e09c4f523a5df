"""Drawing tools of the viewer: paint objects with brush, eraser, lasso and box."""
