import { lanes, publishingComponent } from '../lib/services.ts'

/** A service's appsettings.json with all Kafka components to publish through, the next one after a failure (docs/adr/0012). */
export function settingsFile(text: string): string {
  return text.replace(/"PubSub": ".*"/, `"PubSub": "${[publishingComponent, ...lanes].join()}"`)
}
