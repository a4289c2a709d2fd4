import { decimalPlaces } from './validation/json-text.ts'

/** A currency, and how many decimals its amounts have. */
export interface Currency {
  /** ISO 4217, such as EUR. */
  code: string
  decimals: number
}

/** The currency codes that `currencyOf` accepts. */
export const currencyCodes: readonly string[] = Intl.supportedValuesOf('currency')

export function currencyOf(code: string): Currency {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions()
  return { code, decimals: maximumFractionDigits ?? 2 }
}

/**
 * Returns why a number is no amount of a currency; undefined when it is one. Nothing is rounded: an amount has the decimals of its currency or
 * fewer. So amounts are equal exactly when their numbers are, and no sum or product of doubles passes for an amount.
 */
export function amountFlaw(amount: number, { code, decimals }: Currency): string | undefined {
  if (decimalPlaces(amount) <= decimals) return undefined
  return `has more decimals than ${code}: round it to ${decimals} decimals before you send it`
}
