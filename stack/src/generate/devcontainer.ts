import { defaultPorts } from '../lib/ports.ts'
import { services } from '../lib/services.ts'

/** .devcontainer/devcontainer.json with the ports that its user reaches the stack at. */
export function devcontainerFile(text: string): string {
  const ports = [...services.flatMap(({ http, https }) => [http, https]), defaultPorts.kafka]
  return text.replace(/"forwardPorts": \[.*?\]/, `"forwardPorts": [${ports.join(', ')}]`)
}
