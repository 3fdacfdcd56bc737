"""A model and its motion in three dimensions: Model, Table --scene--> Scene --page--> one .html file."""
