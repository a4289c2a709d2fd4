type Label = 'CERTIFICATE' | 'PRIVATE KEY'

/** What a PEM text holds, in base64 and on one line, as a variable takes it. */
export function bodyOf(pem: string): string {
  return pem.replaceAll(/-----[^-]+-----|\s/g, '')
}

/** The PEM text of such a body, in lines of 64 characters (RFC 7468). */
export function pemOf(label: Label, body: string): string {
  const lines = body.match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The same on one line, which Kafka's settings take and few other programs do. The body may be a variable's name. */
export function pemLine(label: Label, body: string): string {
  return `-----BEGIN ${label}----- ${body} -----END ${label}-----`
}
