"""Reports: what muscle mass does to a motion, beside OpenSim's own answer, as one page and the files of its figures.

    Request --collect--> Findings --files, page--> folder with index.html, .sto, .csv, .json
              strides, curves, comparison        figures
"""
