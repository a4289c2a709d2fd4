import { randomBytes } from 'node:crypto'

/** 32 letters, digits, - and _, which need no escape in a URI or a shell. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url')
}
