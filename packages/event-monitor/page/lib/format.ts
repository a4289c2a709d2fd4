const two = (value: number) => String(value).padStart(2, '0')
const grouped = new Intl.NumberFormat('en')
const oneDigit = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** `12,345` */
export const count = (value: number) => grouped.format(value)

/** `1 event`, `2 events`. */
export const counted = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`

/** `20 of 12,345 shown`, or `20 of at least 12,345 shown` after an incomplete count. */
export const shownOf = (shown: number, { total, isAtLeast }: { total: number; isAtLeast: boolean }) =>
  `${count(shown)} of ${isAtLeast ? 'at least ' : ''}${count(total)} shown`

/** `0.4/s`, `12/s`, `10,204/s`. */
export const rate = (perSecond: number) =>
  `${perSecond < 10 ? oneDigit.format(perSecond) : count(Math.round(perSecond))}/s`

/** Formats milliseconds: `350 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const size = Math.abs(ms)
  if (size < 1000) return `${Math.round(ms)} ms`
  const sign = ms < 0 ? '−' : ''
  const seconds = size / 1000
  if (seconds < 59.95) return `${sign}${oneDigit.format(seconds)} s`
  const whole = Math.round(seconds)
  const units = [
    [86_400, 'd', 3600, 'h'],
    [3600, 'h', 60, 'min'],
  ] as const
  const [large, name, small, smallName] = units.find(([least]) => whole >= least) ?? [60, 'min', 1, 's']
  const rest = Math.floor((whole % large) / small)
  return `${sign}${Math.floor(whole / large)} ${name}${rest ? ` ${rest} ${smallName}` : ''}`
}

/** Formats milliseconds since a start: `+45 ms`, `+2.4 s`, `+4:00.080`, `+24:04:00.070`. */
export function since(ms: number): string {
  if (ms < 60_000) return ms < 0 ? duration(ms) : `+${duration(ms)}`
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000]
  const rest = seconds.toFixed(3).padStart(6, '0')
  return hours > 0 ? `+${hours}:${two(minutes)}:${rest}` : `+${minutes}:${rest}`
}

/** `12 bytes`, `1.5 KiB`, `290 MiB`. */
export function bytes(value: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [value, '']
  for (const each of units) {
    if (size < 1024) break
    size /= 1024
    unit = each
  }
  return unit ? `${oneDigit.format(size)} ${unit}` : counted(value, 'byte')
}

/** Formats local date and time: `2026-11-21 10:02:03`. Sweden's format is this form of ISO 8601. */
export function moment(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleString('sv')
}

/** Formats the local time of a deadline: `14:30`, and on another day `2026-11-21 14:30`. */
export function until(iso: string, now = new Date()): string {
  const [day = '', time = ''] = moment(iso).split(' ')
  return day === moment(now.toISOString()).slice(0, 10) ? time.slice(0, 5) : `${day} ${time.slice(0, 5)}`
}

/** Formats local time: `10:02:03.456`. */
export const clock = (iso: string) =>
  `${moment(iso).slice(11)}.${String(new Date(iso).getMilliseconds()).padStart(3, '0')}`

export const shortId = (id: string) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(id) ? id.slice(0, 8) : id)

/**
 * Returns the key or token in a pasted text, which may begin with `Bearer` (RFC 6750, section 2.1).
 * @returns null if the text is invalid
 */
export function credentialIn(text: string): string | null {
  const pasted = text.trim().replace(/^Bearer(\s+|$)/i, '')
  return /^[\w.~+/-]+=*$/.test(pasted) ? pasted : null
}
