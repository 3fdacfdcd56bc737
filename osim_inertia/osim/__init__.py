"""OpenSim's model files: XML to Model and back."""
