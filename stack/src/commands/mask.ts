/** A tax id as it may be shown: its first two characters, none of a short one. */
export function maskTaxId(taxId: string): string {
  return taxId.length > 4 ? `${taxId.slice(0, 2)}***` : '***'
}

/** JSON text with every tax id in it masked, whatever the case of its first letter. */
export function stringifyMasked(value: unknown): string {
  return JSON.stringify(value, (key, inner) =>
    /^customerTaxId$/i.test(key) && typeof inner === 'string' ? maskTaxId(inner) : inner,
  )
}
