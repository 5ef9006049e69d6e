"""The language of what people read: pages, summary, runbook, tickets, forms and notices.

English is the source: it is in the templates and in the code, and plan.json has English sentences whatever the language
is. A catalogue in gettext's format has the texts of another language.
"""
