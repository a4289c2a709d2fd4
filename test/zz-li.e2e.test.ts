import { theLocalImages } from '/work/wt-images/test/containers/local-images.ts'

theLocalImages()
