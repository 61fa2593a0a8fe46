/** Loads one of the page's own scripts. They are plain JavaScript, so the test says what it uses of them. */
export const loadPageModule = <T>(name: string): Promise<T> => import(`../../src/http/page/${name}`) as Promise<T>;
