"""Least squares with coefficients that are at least 0, for a few unknowns."""

from itertools import combinations


def fit(rows: list[list[float]], values: list[float]) -> list[float]:
    """Returns the coefficients that minimise the sum of the squared relative errors of `rows` times coefficients."""
    weighted = [[cell / value for cell in row] for row, value in zip(rows, values) if value > 0]
    unknowns = len(rows[0])
    best: tuple[float, list[float]] = (float("inf"), [0.0] * unknowns)
    for size in range(1, unknowns + 1):
        for chosen in combinations(range(unknowns), size):
            found = solve([[row[index] for index in chosen] for row in weighted])
            if found is None or min(found) < 0:
                continue
            coefficients = [0.0] * unknowns
            for index, value in zip(chosen, found):
                coefficients[index] = value
            error = sum((1 - sum(cell * each for cell, each in zip(row, coefficients))) ** 2 for row in weighted)
            if error < best[0]:
                best = (error, coefficients)
    return best[1]


def solve(rows: list[list[float]]) -> list[float] | None:
    """Solves `rows` times x = 1 by normal equations. Returns None if several x are solutions."""
    size = len(rows[0])
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(size)] + [sum(row[i] for row in rows)] for i in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(matrix[row][column]))
        if abs(matrix[pivot][column]) < 1e-12:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        for row in range(size):
            if row != column:
                factor = matrix[row][column] / matrix[column][column]
                matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[column])]
    return [matrix[row][size] / matrix[row][row] for row in range(size)]
