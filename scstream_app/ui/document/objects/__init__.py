"""What users do with objects: carry them back, go where they are tracked badly."""
