export { eventually } from '@orderflow/stack'
