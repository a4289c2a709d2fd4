import type { Protocol } from './lockstep.ts'

/** Commands of a driver's own: connections that begin, end, and are alive. */
const ofDrivers = new Set(['hello', 'ismaster', 'isMaster', 'saslStart', 'saslContinue', 'ping', 'endSessions'])

/** MongoDB's wire protocol: every message begins with its length, and a command with its name, after 16 bytes of header. */
export const mongodb: Protocol = {
  lengthOf: (bytes) => (bytes.length < 4 ? undefined : bytes.readInt32LE()),
  asks: (message) => message.readInt32LE(12) === opMsg && !ofDrivers.has(commandOf(message)),
  answers: () => true,
}

const opMsg = 2013

/** Behind 4 bytes of flags, the kind of the section, its length and the type of its first element stands that one's name. */
function commandOf(message: Buffer): string {
  const nameAt = 16 + 4 + 1 + 4 + 1
  return message.toString('latin1', nameAt, message.indexOf(0, nameAt))
}

/** PostgreSQL's, version 3, without TLS: a letter and a length. Only a client's first message has no letter. */
export const postgresql: Protocol = {
  lengthOf(bytes, from, first) {
    const letter = from === 'client' && first ? 0 : 1
    return bytes.length < letter + 4 ? undefined : letter + bytes.readInt32BE(letter)
  },
  // Query, and Sync, which ends a statement with parameters.
  asks: (message, first) => !first && 'QS'.includes(String.fromCharCode(message[0] ?? 0)) && !isPing(message),
  // ReadyForQuery.
  answers: (message) => message[0] === 'Z'.charCodeAt(0),
}

/** By which pgx, the driver of Dapr, asks whether a connection lives that was idle for a second. */
function isPing(message: Buffer): boolean {
  return message.toString('latin1', 5).startsWith('-- ping')
}
