import type { Protocol } from './lockstep.ts'

/** Commands about connections, which drivers send on their own. */
const ofDrivers = new Set(['hello', 'ismaster', 'isMaster', 'saslStart', 'saslContinue', 'ping', 'endSessions'])

/** MongoDB’s wire protocol. A message begins with its length, and its command follows 16 bytes of header. */
export const mongodb: Protocol = {
  lengthOf: (bytes) => (bytes.length < 4 ? undefined : bytes.readInt32LE()),
  asks: (message) => message.readInt32LE(12) === opMsg && !ofDrivers.has(commandOf(message)),
  answers: () => true,
}

const opMsg = 2013

/** The name follows 4 bytes of flags, the kind and length of the section, and the type of the first element. */
function commandOf(message: Buffer): string {
  const nameAt = 16 + 4 + 1 + 4 + 1
  return message.toString('latin1', nameAt, message.indexOf(0, nameAt))
}

/** PostgreSQL’s protocol 3 without TLS: a type byte and a length. Only a client’s first message has no type. */
export const postgresql: Protocol = {
  lengthOf(bytes, from, first) {
    const letter = from === 'client' && first ? 0 : 1
    return bytes.length < letter + 4 ? undefined : letter + bytes.readInt32BE(letter)
  },
  // Q is a query, and S is the Sync at the end of a statement with parameters.
  asks: (message, first) => !first && 'QS'.includes(String.fromCharCode(message[0] ?? 0)) && !isPing(message),
  // ReadyForQuery.
  answers: (message) => message[0] === 'Z'.charCodeAt(0),
}

/** Returns true for the check of an idle connection by pgx, Dapr’s driver. */
function isPing(message: Buffer): boolean {
  return message.toString('latin1', 5).startsWith('-- ping')
}
