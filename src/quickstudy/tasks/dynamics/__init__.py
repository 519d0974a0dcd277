"""Driven systems (Wringe, Trefzer and Stepney 2024): what can a memory compute?"""
