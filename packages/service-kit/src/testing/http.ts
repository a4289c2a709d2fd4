export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

/** Sends a request, and answers what came back as JSON. */
export async function send<T>(url: string, init: RequestInit = {}): Promise<Answer<T>> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : undefined) as T }
}

/** As `send`, a POST of JSON. */
export function post<T>(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}
