import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { headerOf } from '@orderflow/service-kit/log'
import { createSigner, signatureHeader } from '@orderflow/service-kit/trust'
import type { Side } from './settings.ts'
import type { TranslatorOptions } from './translate.ts'

type Keys = Pick<Side, 'signingKeys' | 'signedSince'>

/**
 * Returns a function that signs events of the services with the key of the new application, if version 0.1.0 accepted the events. Returns undefined
 * if the new application signs no events.
 */
export function signerOf(from: Keys, to: Keys, folder: string): TranslatorOptions['sign'] {
  if (to.signingKeys.length === 0) return undefined
  const [old, own] = [createSigner(from.signingKeys), createSigner(to.signingKeys)]
  const { services } = JSON.parse(readFileSync(join(folder, 'components/trust/publishers.json'), 'utf8'))
  const appIds = new Set(Object.keys(services))
  return (event, record, value) => {
    if (!appIds.has(event.AppId)) return undefined
    const signature = headerOf(record, signatureHeader)
    const wasAccepted =
      from.signingKeys.length === 0 || record.appendedAt < from.signedSince || old.isBy(record.value, signature)
    return wasAccepted && !own.isBy(value, signature) ? own.sign(value) : undefined
  }
}
