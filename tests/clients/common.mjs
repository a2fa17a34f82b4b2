// What every script here needs: a client of the service under test, and the texts that it sends. The tests in
// tests/test_clients_node.py set the environment, run the scripts, and look at what the provider received.
import OpenAI from 'openai';

export const { TEXT, NAME, EMAIL } = JSON.parse(process.env.PLANTED);
export const messages = [{ role: 'system', content: 'Be terse.' }, { role: 'user', content: TEXT }];
export const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: 'sk-test-0123456789' });

export async function gather(stream) {
  let text = '';
  const ends = [];
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? '';
    if (chunk.choices[0]?.finish_reason) ends.push(chunk.choices[0].finish_reason);
  }
  return { text, ends };
}
