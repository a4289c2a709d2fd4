import { createParser, type EventSourceMessage } from 'eventsource-parser'

/**
 * Reads the messages of a `text/event-stream` until it ends.
 * @param onBytes is called for each part of the stream, also for comments
 * @throws {TypeError} when the connection breaks
 */
export async function readMessages(
  response: Response,
  onMessage: (message: EventSourceMessage) => void,
  onBytes: () => void = () => {},
): Promise<void> {
  if (!response.body) return
  const onEvent = (message: EventSourceMessage) => {
    try {
      onMessage(message)
    } catch (error) {
      // An error of the page must not end the connection.
      reportError(error)
    }
  }
  const parser = createParser({ onEvent })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onBytes()
    parser.feed(value)
  }
}
