export {
  type Application,
  type Demo,
  eventsOf,
  type Objective,
  outsideRefusal,
  type Reaction,
  type ServiceEntry,
  type SharedSettings,
  type Surroundings,
  type Topic,
  topicOfEvent,
  type Urgency,
} from './application.ts'
export { parseApplication, readApplication } from './read.ts'
