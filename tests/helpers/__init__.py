"""What tests share: small clips, fakes, and ways to wait for the window."""
