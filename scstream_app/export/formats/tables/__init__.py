"""Tables of the group "Tables and volumes"."""
