import { decimalPlaces } from './validation/json-text.ts'

/** A currency, with the number of decimals of its amounts. */
export interface Currency {
  /** ISO 4217 code, such as EUR. */
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
 * Returns why a number is not an amount of a currency, or undefined if it is one. An amount has at most the decimals of its currency;
 * nothing is rounded. So two amounts are equal exactly when their numbers are, and inexact sums of doubles are rejected.
 */
export function amountFlaw(amount: number, { code, decimals }: Currency): string | undefined {
  if (decimalPlaces(amount) <= decimals) return undefined
  return `has more decimals than ${code}: round it to ${decimals} decimals before you send it`
}
