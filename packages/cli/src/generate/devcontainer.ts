import { defaultPorts } from '../lib/ports.ts'
import { services } from '../lib/services.ts'

/** .devcontainer/devcontainer.json with the ports that its user reaches the stack at. */
export function devcontainerFile(text: string): string {
  const { kafka, jaeger, prometheus } = defaultPorts
  const ports = [...services.flatMap(({ http, https }) => [http, https]), kafka, jaeger, prometheus]
  return text.replace(/"forwardPorts": \[.*?\]/, `"forwardPorts": [${ports.join(', ')}]`)
}
