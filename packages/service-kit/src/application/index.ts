export {
  type Application,
  type Demo,
  type Objective,
  type Reaction,
  type ServiceEntry,
  type Surroundings,
  type Topic,
  topicOfEvent,
  type Urgency,
} from './application.ts'
export { ApplicationError, parseApplication, readApplication } from './read.ts'
