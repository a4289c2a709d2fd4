import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Takes each message of a `text/event-stream`, until it ends. @throws {TypeError} when the connection breaks */
export async function readMessages(response: Response, take: (message: EventSourceMessage) => void): Promise<void> {
  if (!response.body) return
  const onEvent = (message: EventSourceMessage) => {
    try {
      take(message)
    } catch (error) {
      // A mistake of the page's own, and no matter of the connection.
      reportError(error)
    }
  }
  const parser = createParser({ onEvent })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parser.feed(value)
  }
}
