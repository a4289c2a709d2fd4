/** Seconds that something takes here: from one turn of the event loop to what nobody waits for. Each bucket is a series of every label. */
export const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Seconds from one event to another, with services, sidecars and a broker in between, which may be away for a while. */
export const delays = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]

/** How many share something: up to the largest batch of any kind. */
export const sizes = [1, 5, 20, 50, 100, 200, 500]
