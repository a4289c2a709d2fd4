import { decimalPlaces } from '@orderflow/envelope'
import { decimalsByCode } from './iso-4217.ts'

export interface Currency {
  /** ISO 4217 code, such as EUR. */
  code: string
  decimals: number
}

export const currencyCodes: readonly string[] = [...decimalsByCode.keys()]

/** @throws {Error} for a code that is not in the table of ISO 4217 */
export function currencyOf(code: string): Currency {
  const decimals = decimalsByCode.get(code)
  if (decimals === undefined)
    throw new Error(`${code} is not a currency of ISO 4217; use one of ${currencyCodes.join(', ')}`)
  return { code, decimals }
}

/**
 * Returns the reason why a number is not an amount of a currency, or undefined for an amount. An amount has at most as many decimals as its currency.
 * The function rounds nothing, so it rejects inexact sums of doubles.
 */
export function amountFlaw(amount: number, { code, decimals }: Currency): string | undefined {
  if (decimalPlaces(amount) <= decimals) return undefined
  return `has more decimals than ${code}: round it to ${decimals} decimals before you send it`
}
