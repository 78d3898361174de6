{"kernel": "k", "ttir": "k.ttir", "grid": [1, 1, 1], "args": []}
