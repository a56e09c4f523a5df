"""Opening, saving, recovering and closing clips and sessions."""
