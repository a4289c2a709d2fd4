import { meansOneOf, personalNames } from '@orderflow/envelope'

const isPersonal = meansOneOf(personalNames)

/** JSON text in which all is masked that the contract calls personal, whatever the case of its name. */
export function stringifyMasked(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (isPersonal(key) ? '***' : inner))
}
