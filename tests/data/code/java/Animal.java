package zoo;

public abstract class Animal {
    protected static final int LEGS = 4;
    enum Mood { CALM }
    abstract String sound();
    public String speak() { return sound() + LEGS; }
}
