"""Bibliographic entries of the papers whose tasks, learners and measures quickstudy has."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A publication.

    Parameters
    ----------
    kind:
        Type of the BibTeX entry.
    authors:
        Authors, separated by `and`.
    title:
        Title.
    venue:
        Journal, proceedings or archive.
    """

    kind: str
    authors: str
    title: str
    venue: str


FAMILIES = {
    "language": ("cisneros", 2022),
    "grammar": ("lan", 2023),
    "dynamics": ("wringe", 2024),
    "curriculum": ("feyereisl", 2017),
    "games": ("denamganaï", 2022),
}
"""First author and year of the paper of each family."""

PAPERS = {
    ("cisneros", 2022): Paper(
        "inproceedings",
        "Cisneros, Hugo and Sivic, Josef and Mikolov, Tomas",
        "Benchmarking Learning Efficiency in Deep Reservoir Computing",
        "Conference on Lifelong Learning Agents (CoLLAs)",
    ),
    ("lan", 2023): Paper(
        "inproceedings",
        "Lan, Nur and Chemla, Emmanuel and Katzir, Roni",
        "Benchmarking Neural Network Generalization for Grammar Induction",
        "CLASP Conference on Learning with Small Data",
    ),
    ("lan", 2022): Paper(
        "article",
        "Lan, Nur and Geyer, Michal and Chemla, Emmanuel and Katzir, Roni",
        "Minimum Description Length Recurrent Neural Networks",
        "Transactions of the Association for Computational Linguistics",
    ),
    ("wringe", 2024): Paper(
        "misc",
        "Wringe, Chester and Trefzer, Martin and Stepney, Susan",
        "Reservoir Computing Benchmarks: a review, a taxonomy, some best practices",
        "arXiv",
    ),
    ("feyereisl", 2017): Paper(
        "misc",
        "Feyereisl, Jan and Nikl, Matěj and Poliak, Martin and Stránský, Martin and Vlasák, Michal",
        "General AI Challenge, Round One: Gradual Learning",
        "arXiv",
    ),
    ("denamganaï", 2022): Paper(
        "misc",
        "Denamganaï, Kevin and Missaoui, Sondess and Walker, James Alfred",
        "Meta-Referential Games to Learn Compositional Learning Behaviours",
        "arXiv",
    ),
    ("delétang", 2022): Paper(
        "misc",
        "Delétang, Grégoire and Ruoss, Anian and Grau-Moya, Jordi and Genewein, Tim and Wenliang,"
        " Li Kevin and Catt, Elliot and Cundy, Chris and Hutter, Marcus and Legg, Shane and"
        " Veness, Joel and Ortega, Pedro A.",
        "Neural Networks and the Chomsky Hierarchy",
        "arXiv",
    ),
    ("jaeger", 2001): Paper(
        "techreport",
        "Jaeger, Herbert",
        "Short Term Memory in Echo State Networks",
        "German National Research Center for Information Technology",
    ),
    ("jaeger", 2012): Paper(
        "techreport",
        "Jaeger, Herbert",
        "Long Short-Term Memory in Echo State Networks: Details of a Simulation Study",
        "Jacobs University Bremen",
    ),
    ("hochreiter", 1997): Paper(
        "article",
        "Hochreiter, Sepp and Schmidhuber, Jürgen",
        "Long Short-Term Memory",
        "Neural Computation",
    ),
    ("cho", 2014): Paper(
        "inproceedings",
        "Cho, Kyunghyun and van Merriënboer, Bart and Gulcehre, Caglar and Bahdanau, Dzmitry and"
        " Bougares, Fethi and Schwenk, Holger and Bengio, Yoshua",
        "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine"
        " Translation",
        "Empirical Methods in Natural Language Processing (EMNLP)",
    ),
    ("vaswani", 2017): Paper(
        "inproceedings",
        "Vaswani, Ashish and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones, Llion"
        " and Gomez, Aidan N. and Kaiser, Łukasz and Polosukhin, Illia",
        "Attention Is All You Need",
        "Advances in Neural Information Processing Systems",
    ),
    ("gu", 2023): Paper(
        "misc",
        "Gu, Albert and Dao, Tri",
        "Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
        "arXiv",
    ),
    ("yang", 2024): Paper(
        "misc",
        "Yang, Songlin and Kautz, Jan and Hatamizadeh, Ali",
        "Gated Delta Networks: Improving Mamba2 with Delta Rule",
        "arXiv",
    ),
    ("beck", 2024): Paper(
        "misc",
        "Beck, Maximilian and Pöppel, Korbinian and Spanring, Markus and Auer, Andreas and"
        " Prudnikova, Oleksandra and Kopp, Michael and Klambauer, Günter and Brandstetter,"
        " Johannes and Hochreiter, Sepp",
        "xLSTM: Extended Long Short-Term Memory",
        "arXiv",
    ),
    ("feng", 2024): Paper(
        "misc",
        "Feng, Leo and Tung, Frederick and Ahmed, Mohamed Osama and Bengio, Yoshua and"
        " Hajimirsadeghi, Hossein",
        "Were RNNs All We Needed?",
        "arXiv",
    ),
    ("orvieto", 2023): Paper(
        "inproceedings",
        "Orvieto, Antonio and Smith, Samuel L. and Gu, Albert and Fernando, Anushan and Gulcehre,"
        " Caglar and Pascanu, Razvan and De, Soham",
        "Resurrecting Recurrent Neural Networks for Long Sequences",
        "International Conference on Machine Learning (ICML)",
    ),
    ("arora", 2023): Paper(
        "misc",
        "Arora, Simran and Eyuboglu, Sabri and Timalsina, Aman and Johnson, Isys and Poli, Michael"
        " and Zou, James and Rudra, Atri and Ré, Christopher",
        "Zoology: Measuring and Improving Recall in Efficient Language Models",
        "arXiv",
    ),
    ("merrill", 2024): Paper(
        "misc",
        "Merrill, William and Petty, Jackson and Sabharwal, Ashish",
        "The Illusion of State in State-Space Models",
        "arXiv",
    ),
    ("gauthier", 2021): Paper(
        "article",
        "Gauthier, Daniel J. and Bollt, Erik and Griffith, Aaron and Barbosa, Wendson A. S.",
        "Next Generation Reservoir Computing",
        "Nature Communications",
    ),
    ("appeltant", 2011): Paper(
        "article",
        "Appeltant, Lennert and Soriano, Miguel C. and Van der Sande, Guy and Danckaert, Jan and"
        " Massar, Serge and Dambre, Joni and Schrauwen, Benjamin and Mirasso, Claudio R. and"
        " Fischer, Ingo",
        "Information Processing Using a Single Dynamical Node as Complex System",
        "Nature Communications",
    ),
    ("maass", 2002): Paper(
        "article",
        "Maass, Wolfgang and Natschläger, Thomas and Markram, Henry",
        "Real-Time Computing Without Stable States: A New Framework for Neural Computation Based"
        " on Perturbations",
        "Neural Computation",
    ),
    ("dambre", 2012): Paper(
        "article",
        "Dambre, Joni and Verstraeten, David and Schrauwen, Benjamin and Massar, Serge",
        "Information Processing Capacity of Dynamical Systems",
        "Scientific Reports",
    ),
    ("dale", 2019): Paper(
        "article",
        "Dale, Matthew and Miller, Julian F. and Stepney, Susan and Trefzer, Martin A.",
        "A Substrate-Independent Framework to Characterize Reservoir Computers",
        "Proceedings of the Royal Society A",
    ),
    ("suzgun", 2019): Paper(
        "misc",
        "Suzgun, Mirac and Gehrmann, Sebastian and Belinkov, Yonatan and Shieber, Stuart M.",
        "Memory-Augmented Recurrent Neural Networks Can Learn Generalized Dyck Languages",
        "arXiv",
    ),
    ("schulman", 2017): Paper(
        "misc",
        "Schulman, John and Wolski, Filip and Dhariwal, Prafulla and Radford, Alec and Klimov,"
        " Oleg",
        "Proximal Policy Optimization Algorithms",
        "arXiv",
    ),
    ("kapturowski", 2019): Paper(
        "inproceedings",
        "Kapturowski, Steven and Ostrovski, Georg and Quan, John and Munos, Rémi and Dabney, Will",
        "Recurrent Experience Replay in Distributed Reinforcement Learning",
        "International Conference on Learning Representations (ICLR)",
    ),
    ("mnih", 2016): Paper(
        "inproceedings",
        "Mnih, Volodymyr and Badia, Adrià Puigdomènech and Mirza, Mehdi and Graves, Alex and"
        " Lillicrap, Timothy and Harley, Tim and Silver, David and Kavukcuoglu, Koray",
        "Asynchronous Methods for Deep Reinforcement Learning",
        "International Conference on Machine Learning (ICML)",
    ),
    ("graves", 2016): Paper(
        "article",
        "Graves, Alex and Wayne, Greg and Reynolds, Malcolm and others",
        "Hybrid Computing Using a Neural Network with Dynamic External Memory",
        "Nature",
    ),
    ("maas", 2011): Paper(
        "inproceedings",
        "Maas, Andrew L. and Daly, Raymond E. and Pham, Peter T. and Huang, Dan and Ng, Andrew Y."
        " and Potts, Christopher",
        "Learning Word Vectors for Sentiment Analysis",
        "Association for Computational Linguistics (ACL)",
    ),
    ("kingma", 2015): Paper(
        "inproceedings",
        "Kingma, Diederik P. and Ba, Jimmy",
        "Adam: A Method for Stochastic Optimization",
        "International Conference on Learning Representations (ICLR)",
    ),
}
