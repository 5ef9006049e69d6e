"""The language of the page and of the command line's summary.

English is the source: it is in the templates and in the code, and plan.json has English sentences whatever the language
is. A catalogue in gettext's format has the texts of another language.
"""
