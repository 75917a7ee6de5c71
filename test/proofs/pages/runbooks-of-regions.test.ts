import { followRunbooks } from './runbooks.ts'

followRunbooks('regions')
