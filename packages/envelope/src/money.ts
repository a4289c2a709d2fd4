import { decimalPlaces } from './validation/json-text.ts'

export interface Currency {
  /** ISO 4217 code, such as EUR. */
  code: string
  decimals: number
}

export const currencyCodes: readonly string[] = Intl.supportedValuesOf('currency')

export function currencyOf(code: string): Currency {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions()
  return { code, decimals: maximumFractionDigits ?? 2 }
}

/**
 * Returns the reason why a number is not an amount of a currency, or undefined for an amount. An amount has at most as many decimals as its currency.
 * The function rounds nothing, so it rejects inexact sums of doubles.
 */
export function amountFlaw(amount: number, { code, decimals }: Currency): string | undefined {
  if (decimalPlaces(amount) <= decimals) return undefined
  return `has more decimals than ${code}: round it to ${decimals} decimals before you send it`
}
