"""How producers choose queues: the choice of each generation of clients, and of the Proxy, step by step."""
