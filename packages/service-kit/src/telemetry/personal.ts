import { meansOneOf, personalNames } from '@orderflow/envelope-schema'
import { isSecretName } from './secret-names.ts'

const inherited = new Set<string>()
let isPersonal = meansOneOf(personalNames)

/** An API has a personal field of the contract under this name: called while its models are made, before there is anything to mask. */
export function inheritPersonal(name: string): void {
  inherited.add(name)
  isPersonal = meansOneOf([...personalNames, ...inherited])
}

/** Whether what a field of this name holds is told to nobody: it is personal (by the contract, or taken over from there) or a secret. */
export function isHidden(name: string): boolean {
  return isPersonal(name) || isSecretName(name)
}
