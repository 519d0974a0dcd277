"""Tasks on measured data keep their promises on made-up data as well."""

from made_up_data import cache_of_data, data_in_place, made_up_data  # noqa: F401
