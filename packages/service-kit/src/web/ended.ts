import type { Request, Response } from 'express'

/** How a request ended. */
export interface Ended {
  /** Its path as OpenAPI writes it; undefined when there is none for it. */
  route: string | undefined
  /** The status that was to be answered. */
  status: number
  /** False when the client left before. */
  isAnswered: boolean
}

/** Tells how a request ended: once its answer was sent, or its client has left. */
export function whenEnded(request: Request, response: Response, tell: (ended: Ended) => void): void {
  response.once('close', () => {
    const { route } = request as { route?: { path: string } }
    tell({
      route: route?.path.replace(/:(\w+)/g, '{$1}'),
      status: response.statusCode,
      isAnswered: response.writableFinished,
    })
  })
}
