"""Ten small languages (Cisneros et al. 2022): how fast does a learner learn from few examples?"""
