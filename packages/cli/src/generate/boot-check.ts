import { lanes, publishingComponent } from '../lib/services.ts'
import { generated } from './comment.ts'

/** packages/cli/release-image/boot-check/kafka.yaml */
export function bootCheckFile(): string {
  const documents = [publishingComponent, ...lanes].map(
    (name) => `apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: ${name}
spec:
  type: pubsub.in-memory
  version: v1
  metadata: []
`,
  )
  return `${generated(`In place of components/kafka.yaml while an image is checked: a stream inside the sidecar, so that the check consumes and
publishes nothing anywhere.`)}${documents.join('---\n')}`
}
